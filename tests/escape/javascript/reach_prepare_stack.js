Error.prepareStackTrace = (error, frames) => frames;
const found = new Error('x').stack;
Array.isArray(found) && found.some((frame) => frame.getThis?.()) ? 'ESCAPED' : 'held'
