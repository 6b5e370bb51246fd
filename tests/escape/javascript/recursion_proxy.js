const odd = new Proxy({}, { get: (target, name, self) => self[name] });
odd.x;
