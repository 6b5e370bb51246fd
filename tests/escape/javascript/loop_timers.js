const again = () => setTimeout(again, 0);
again();
await new Promise(() => {});
