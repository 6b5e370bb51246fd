"""Make the weights of a tiny language model that always wants to say the same character."""

import struct
from pathlib import Path
from typing import Any

_WIDTH, _INNER = 32, 32
_UINT32, _FLOAT32, _STRING, _ARRAY, _INT32 = 4, 6, 8, 9, 5
_CONTROL, _UNKNOWN, _BYTE = 3, 2, 6
_ALIGNED = 32


def write_tiny_model(path: Path, says: str = "a", *, template: str | None = None) -> Path:
    """Write a llama with one layer and a vocabulary of bytes, whose likeliest next byte is always `says`."""
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    kinds = [_UNKNOWN, _CONTROL, _CONTROL, *[_BYTE] * 256]
    facts: list[tuple[str, int, Any]] = [
        ("general.architecture", _STRING, "llama"),
        ("llama.context_length", _UINT32, 65536),
        ("llama.embedding_length", _UINT32, _WIDTH),
        ("llama.block_count", _UINT32, 1),
        ("llama.feed_forward_length", _UINT32, _INNER),
        ("llama.attention.head_count", _UINT32, 1),
        ("llama.attention.layer_norm_rms_epsilon", _FLOAT32, 1e-5),
        ("tokenizer.ggml.model", _STRING, "llama"),
        ("tokenizer.ggml.tokens", _ARRAY, (_STRING, tokens)),
        ("tokenizer.ggml.scores", _ARRAY, (_FLOAT32, [0.0] * len(tokens))),
        ("tokenizer.ggml.token_type", _ARRAY, (_INT32, kinds)),
        ("tokenizer.ggml.bos_token_id", _UINT32, 1),
        ("tokenizer.ggml.eos_token_id", _UINT32, 2),
    ]
    if template is not None:
        facts.append(("tokenizer.chat_template", _STRING, template))
    wanted = 3 + says.encode()[0]
    output = [1.0 if token == wanted else 0.0 for token in range(len(tokens)) for _ in range(_WIDTH)]
    square = [0.0] * (_WIDTH * _WIDTH)
    ones = [1.0] * _WIDTH
    tensors: list[tuple[str, tuple[int, ...], list[float]]] = [
        ("token_embd.weight", (_WIDTH, len(tokens)), [1.0] * (_WIDTH * len(tokens))),
        ("output_norm.weight", (_WIDTH,), ones),
        ("output.weight", (_WIDTH, len(tokens)), output),
        *((f"blk.0.{name}_norm.weight", (_WIDTH,), ones) for name in ("attn", "ffn")),
        *((f"blk.0.attn_{name}.weight", (_WIDTH, _WIDTH), square) for name in ("q", "k", "v", "output")),
        *((f"blk.0.ffn_{name}.weight", (_WIDTH, _INNER), square) for name in ("gate", "up", "down")),
    ]
    path.write_bytes(_file(facts, tensors))
    return path


def _file(facts: list[tuple[str, int, Any]], tensors: list[tuple[str, tuple[int, ...], list[float]]]) -> bytes:
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(facts))
    head += b"".join(_text(key) + struct.pack("<I", kind) + _value(kind, value) for key, kind, value in facts)
    data = b""
    for name, shape, numbers in tensors:
        head += _text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(data))
        data += _padded(struct.pack(f"<{len(numbers)}f", *numbers))
    return _padded(head) + data


def _value(kind: int, value: Any) -> bytes:
    if kind == _STRING:
        return _text(value)
    if kind == _ARRAY:
        of, values = value
        return struct.pack("<IQ", of, len(values)) + b"".join(_value(of, each) for each in values)
    return struct.pack({_UINT32: "<I", _INT32: "<i", _FLOAT32: "<f"}[kind], value)


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _padded(content: bytes) -> bytes:
    return content + b"\0" * (-len(content) % _ALIGNED)
