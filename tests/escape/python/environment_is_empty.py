# ends: ok
import os

"ESCAPED" if dict(os.environ) or getattr(os, "environb", None) else "held"
