const never = { then(resolve) { resolve(never); } };
await never;
