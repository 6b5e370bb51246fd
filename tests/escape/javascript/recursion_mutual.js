const ping = () => pong() + 1;
const pong = () => ping() + 1;
ping();
