const tell = () => [performance.now(), Date.now(), +new Date(), Date(), performance.timeOrigin, Reflect.construct(Date, []).getTime()].join();
const before = tell();
for (let n = 0; n < 3e6; n += 1);
tell() === before ? 'held' : 'ESCAPED'
