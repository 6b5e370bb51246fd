"""Where lines end: at LF or CRLF, and nowhere else."""


def split_lines(text: str) -> list[str]:
    """Return the lines of `text` without their ends, which are LF or CRLF."""
    lines = without_crlf(text).split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def without_crlf(text: str) -> str:
    """Return `text` with each CRLF made an LF."""
    return text.replace("\r\n", "\n") if "\r" in text else text


def without_crlf_bytes(content: bytes) -> bytes:
    """Return text's bytes with each CRLF made an LF."""
    return content.replace(b"\r\n", b"\n") if b"\r" in content else content
