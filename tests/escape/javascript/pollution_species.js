class Odd extends Promise { static get [Symbol.species]() { while (true) {} } }
await Odd.resolve(1).then(() => 2);
