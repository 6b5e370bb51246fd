context.ask ? context.ask('__class__', 1) : inputs
