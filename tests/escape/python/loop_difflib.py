# ends: killed | timeout
import difflib

difflib.SequenceMatcher(None, "ab" * 100_000, "ba" * 100_000, autojunk=False).ratio()
