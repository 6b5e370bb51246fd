const again = (...given) => again.apply(null, [...given, 1]);
again();
