const fs = require('fs');
'ESCAPED'
