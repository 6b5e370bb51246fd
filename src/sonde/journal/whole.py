"""Tell whether what is read is as it was written.

SQLite keeps no checksums of its own. The one beside each fact covers the row's number, time and fact, and is mixed with
a salt that is drawn for each journal: what rotted, or came in with the log of another journal, does not pass. A
text is kept under its own hash.
"""

import struct
import zlib

from sonde.blobs import store

_PLACE = struct.Struct("<qd")


def crc_of(salt: int, seq: int, at: float, fact: bytes) -> int:
    """Return what must stand beside a fact."""
    return zlib.crc32(fact, zlib.crc32(_PLACE.pack(seq, at))) ^ salt


def is_whole_row(salt: int, row: tuple[object, ...]) -> bool:
    """Whether a row (number, time, fact, checksum) is as it was written."""
    match row:
        case (int(seq), float(at), bytes(fact), int(crc)):
            return crc_of(salt, seq, at, fact) == crc
        case _:
            return False


def is_whole_text(address: object, content: object) -> bool:
    """Whether a text is what its address says."""
    return isinstance(content, bytes) and store.address(content) == address
