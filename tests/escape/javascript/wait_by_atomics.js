const shared = typeof SharedArrayBuffer === 'undefined' ? null : new SharedArrayBuffer(4);
if (shared) Atomics.wait(new Int32Array(shared), 0, 0);
'done'
