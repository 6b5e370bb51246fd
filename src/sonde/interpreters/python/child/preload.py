"""What cells can import: a confined process reads no files, so all of it is loaded before."""

import importlib
import pkgutil
import sys
import zoneinfo
from contextlib import suppress
from types import ModuleType

_MODULES = """
abc argparse array ast asyncio base64 binascii bisect builtins bz2 calendar cmath codecs collections collections.abc
concurrent.futures concurrent.futures.thread configparser contextlib contextvars copy csv dataclasses datetime decimal
difflib dis email email.message email.parser email.utils enum errno fnmatch fractions functools gc getpass glob
graphlib gzip hashlib heapq hmac html html.entities html.parser importlib importlib.util inspect io ipaddress
itertools json json.decoder json.encoder keyword linecache locale logging lzma marshal math numbers operator os
os.path pathlib pickle platform posixpath pprint queue random re reprlib sched secrets select shlex shutil signal
socket sqlite3 stat statistics string stringprep struct subprocess sys tempfile textwrap threading time timeit token
tokenize tomllib traceback types typing unicodedata urllib urllib.parse uuid warnings weakref xml
xml.etree.ElementTree zipfile zlib zoneinfo _strptime
"""

_ENCODINGS = """
ascii base64_codec charmap cp1250 cp1251 cp1252 cp437 cp850 hex_codec idna iso8859_1 iso8859_15 iso8859_2 latin_1
mac_roman punycode quopri_codec raw_unicode_escape rot_13 undefined unicode_escape utf_16 utf_16_be utf_16_le utf_32
utf_32_be utf_32_le utf_7 utf_8 utf_8_sig zlib_codec
"""


_ZONES = """
UTC GMT Africa/Cairo Africa/Johannesburg Africa/Lagos Africa/Nairobi America/Argentina/Buenos_Aires America/Bogota
America/Chicago America/Denver America/Halifax America/Lima America/Los_Angeles America/Mexico_City America/New_York
America/Phoenix America/Santiago America/Sao_Paulo America/Toronto America/Vancouver Asia/Bangkok Asia/Dhaka Asia/Dubai
Asia/Ho_Chi_Minh Asia/Hong_Kong Asia/Jakarta Asia/Jerusalem Asia/Karachi Asia/Kolkata Asia/Manila Asia/Riyadh
Asia/Seoul Asia/Shanghai Asia/Singapore Asia/Taipei Asia/Tehran Asia/Tokyo Australia/Melbourne Australia/Sydney
Etc/UTC Europe/Amsterdam Europe/Athens Europe/Berlin Europe/Dublin Europe/Istanbul Europe/Kyiv Europe/Lisbon
Europe/London Europe/Madrid Europe/Moscow Europe/Oslo Europe/Paris Europe/Rome Europe/Stockholm Europe/Warsaw
Europe/Zurich Pacific/Auckland Pacific/Honolulu US/Central US/Eastern US/Mountain US/Pacific
"""

_NOT_FOR_USE = {"__main__", "conftest", "distutils", "setup", "test", "tests"}

_kept: list[zoneinfo.ZoneInfo] = []
"""Time zones are known for as long as somebody holds them."""


def preload(packages: list[str], folders: list[str]) -> None:
    """Import the standard library's useful part, and `packages` from `folders`. Raises `ImportError` for a package."""
    for name in (*_MODULES.split(), *(f"encodings.{encoding}" for encoding in _ENCODINGS.split())):
        with suppress(ImportError):  # some are left out of some builds of Python
            importlib.import_module(name)
    _keep_zones(zoneinfo.ZoneInfo)
    if packages:
        # Its twin, which is written in Python, is what pandas asks for zones.
        _keep_zones(importlib.import_module("zoneinfo._zoneinfo").ZoneInfo)
        sys.path.extend(folders)
        for name in packages:
            _import_all_of(importlib.import_module(name))


def _keep_zones(kind: type[zoneinfo.ZoneInfo]) -> None:
    for name in _ZONES.split():
        with suppress(zoneinfo.ZoneInfoNotFoundError):
            _kept.append(kind(name))


def _import_all_of(package: ModuleType) -> None:
    """Import all that lies in a package: many load parts of themselves when they are first used."""
    for _, name, _ in pkgutil.iter_modules(getattr(package, "__path__", ()), f"{package.__name__}."):
        if name.rpartition(".")[2] not in _NOT_FOR_USE:
            with suppress(Exception, SystemExit):  # parts may want what is not installed, or be programs
                _import_all_of(importlib.import_module(name))
