"""What a file may not say that anybody may have written."""

from urllib.parse import urlsplit

from sonde.models.names import is_loopback


def is_elsewhere(model: str) -> bool:
    """Whether a model is at an address of another machine that its name gives: data and keys would go there."""
    address = model.partition("@http")[2]
    return bool(address) and not is_loopback(urlsplit("http" + address).hostname or "")
