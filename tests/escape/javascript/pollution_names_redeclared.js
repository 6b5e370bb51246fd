const Promise = null, Map = null, JSON = null, Error = null;
class Object {}
function Array() {}
var globalThis = null, undefined, Symbol;
1
