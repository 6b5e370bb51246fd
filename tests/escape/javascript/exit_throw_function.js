throw () => {};
