"""Translates nvcc's PTX to C++ functions for the emulation of a block in tests/gpu/emulated_gpu.h.

A function has a local variable for each register and one C++ statement for each instruction. What it uses beside that
is in ptx.h. An instruction that no kernel had when this was written is an error.

  translate.py < KERNELS.ptx > KERNELS.cpp
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Sequence

COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
COMPARISONS |= {"lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
OPPOSITES = {"eq": "!=", "ne": "==", "lt": ">=", "le": ">", "gt": "<=", "ge": "<"}
OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%", "and": "&", "or": "|", "xor": "^"}
FUNCTIONS = {"sqrt": "std::sqrt({})", "rsqrt": "1 / std::sqrt({})", "rcp": "1 / {}"}
FUNCTIONS |= {"ex2": "std::exp2({})", "lg2": "std::log2({})"}


def width(kind: str) -> int:
  return 1 if kind == "pred" else int(kind[1:])


def is_real(kind: str) -> bool:
  return kind in ("f32", "f64")


def cpp_type(kind: str) -> str:
  if kind in ("f32", "f64", "pred"):
    return {"f32": "float", "f64": "double", "pred": "bool"}[kind]
  return f"std::{'' if kind[0] == 's' else 'u'}int{width(kind)}_t"


def operands_of(text: str) -> list[str]:
  """What commas outside of brackets separate."""
  return [part.strip() for part in re.split(r",(?![^\[{(]*[\]})])", text) if part.strip()]


class Kernel:
  """A kernel of a PTX file, as a C++ function."""

  def __init__(self, name: str, parameters: str, body: str) -> None:
    self.name = name
    self.parameters = re.findall(r"([\w$]+)(?:\[\d*\])?\s*(?:,|$)", parameters)
    self.registers: dict[str, str] = {}  # Their PTX types.
    self.lines: list[str] = []
    self.block = 0  # The line that counts the instructions of the present block.
    self.counted = 0  # So far.
    self.begin_block()
    for statement in re.split(r";|(?<=:)\s*\n", body):
      text = " ".join(statement.split())
      while label := re.match(r"\{? ?(\$?[\w$]+): ?", text):
        self.lines.append(f"{label[1].replace('$', 'L')}:;")
        self.begin_block()
        text = text[label.end() :]
      text = text.strip("{} ") if text in ("{", "}") else text
      if text.startswith(".reg"):
        self.declare(text)
      elif text and not text.startswith((".pragma", ".loc")):
        self.lines.append(self.statement(text))
        if re.search(r"\b(bra|ret)\b", text):
          self.begin_block()
    self.begin_block()

  def begin_block(self) -> None:
    """Has the last block, whose instructions are executed together, count them."""
    if self.counted:
      self.lines[self.block] = f"  executed += {self.counted};"
    self.block = len(self.lines)
    self.counted = 0
    self.lines.append("")

  def declare(self, text: str) -> None:
    kind, names = text.split(None, 2)[1:]
    for name in operands_of(names):
      many = re.fullmatch(r"(%\w+)<(\d+)>", name)
      for one in [f"{many[1]}{i}" for i in range(int(many[2]))] if many else [name]:
        self.registers[one] = kind[1:]

  def kind_of(self, register: str) -> str:
    """A register's type; one of bits is unsigned."""
    kind = self.registers[register]
    return "u" + kind[1:] if kind[0] in "bs" else kind

  def value(self, operand: str, kind: str) -> str:
    """An operand as an expression of this type."""
    wanted = cpp_type(kind)
    if operand in self.registers:
      name, own = operand.replace("%", "r_"), self.kind_of(operand)
      if cpp_type(own) == wanted or own == "pred":
        return name
      if is_real(own) or is_real(kind):
        bits = name if width(own) == width(kind) else f"static_cast<{cpp_type('u' + str(width(kind)))}>({name})"
        return f"std::bit_cast<{wanted}>({bits})"
      return f"static_cast<{wanted}>({name})"
    if special := re.fullmatch(r"%(tid|ctaid|ntid)\.([xyz])", operand):
      index = {"tid": "threadIdx", "ctaid": "blockIdx", "ntid": "blockDim"}[special[1]]
      return f"static_cast<{wanted}>({index}.{special[2]})"
    if real := re.fullmatch(r"0[fFdD]([0-9A-Fa-f]{8}|[0-9A-Fa-f]{16})", operand):
      bits = f"0x{real[1]}ULL" if len(real[1]) == 16 else f"0x{real[1]}U"
      return f"std::bit_cast<{wanted}>({bits})" if is_real(kind) else bits
    if re.fullmatch(r"-?(0x[0-9A-Fa-f]+|\d+)U?", operand):
      number = int(operand.rstrip("U"), 0)
      if kind == "pred":
        return "true" if number else "false"
      if is_real(kind):
        return f"std::bit_cast<{wanted}>(static_cast<{cpp_type('u' + str(width(kind)))}>({number}LL))"
      return f"static_cast<{wanted}>({number}LL)" if number > -(1 << 63) else "INT64_MIN"
    if operand in self.parameters:
      return f"reinterpret_cast<std::uint64_t>(parameters[{self.parameters.index(operand)}])"
    if operand.endswith("shared_bytesE"):
      return f"static_cast<{wanted}>(0)"
    raise ValueError(f"operand {operand} of type {kind}")

  def store(self, register: str, kind: str, expression: str) -> str:
    """A statement that writes an expression of this type to a register."""
    if register == "_":
      return ""
    name, own = register.replace("%", "r_"), self.kind_of(register)
    if own == "pred" or cpp_type(own) == cpp_type(kind):
      return f"{name} = {expression};"
    typed = f"static_cast<{cpp_type(kind)}>({expression})"
    if is_real(own) or is_real(kind):
      return f"{name} = std::bit_cast<{cpp_type(own)}>({typed});"
    return f"{name} = static_cast<{cpp_type(own)}>({typed});"

  def address(self, operand: str, space: str) -> str:
    match = re.fullmatch(r"\[([^+\]]+)(?:\+(-?\d+))?\]", operand.replace(" ", ""))
    assert match, operand
    offset = match[2] or "0"
    if space == "shared":
      return f"shared + ({self.value(match[1], 'u32')} + ({offset}))"
    return f"reinterpret_cast<unsigned char*>({self.value(match[1], 'u64')} + ({offset}LL))"

  def statement(self, text: str) -> str:
    guard = re.match(r"@(!?)(%\w+) ", text)
    operation, _, rest = (text[guard.end() :] if guard else text).partition(" ")
    words = operation.split(".")
    try:
      code = self.instruction(words, operands_of(rest))
    except (ValueError, AssertionError, KeyError, IndexError) as error:
      raise ValueError(f"{self.name}: {text}: {error!r}") from error
    self.counted += 1
    code = code.replace("PLACE", str(len(self.lines)))
    return f"  if ({guard[1]}{guard[2].replace('%', 'r_')}) {{ {code} }}" if guard else f"  {code}"

  def instruction(self, words: Sequence[str], operands: list[str]) -> str:
    name, kind = words[0], words[-1]
    if name == "ret":
      return "return;"
    if name == "bra":
      return f"goto {operands[-1].replace('$', 'L')};"
    if name == "bar":
      return "__syncthreads();" if words[1] == "sync" else f"__syncwarp({self.value(operands[0], 'u32')});"
    if name in ("ld", "st"):
      return self.access(words, operands)
    if name == "mma":
      return self.mma(words, operands)
    if name == "shfl":
      return self.shuffle(words, operands)
    if name == "mov":
      return self.move(kind, operands)
    to = operands[0]
    if name == "cvta":
      return self.store(to, "u64", self.value(operands[1], "u64"))
    if name == "cvt":
      return self.conversion(words, operands)
    if name == "setp":
      return self.store(to, "pred", self.comparison(words[1], kind, operands))
    if name == "selp":
      first, second = (self.value(operand, kind) for operand in operands[1:3])
      return self.store(to, kind, f"({self.value(operands[3], 'pred')} ? {first} : {second})")
    if name in ("shl", "shr"):
      shifted = f"{name}<{cpp_type(kind)}>({self.value(operands[1], kind)}, {self.value(operands[2], 'u32')})"
      return self.store(to, kind, shifted)
    if name == "mul" and words[1] in ("wide", "hi"):
      wide = kind[0] + "64"
      x, y = (f"static_cast<{cpp_type(wide)}>({self.value(operand, kind)})" for operand in operands[1:])
      assert width(kind) == 32
      if words[1] == "wide":
        return self.store(to, wide, f"({x} * {y})")
      return self.store(to, kind, f"({x} * {y}) >> 32")
    values = [self.value(operand, kind) for operand in operands[1:]]
    return self.store(to, kind, self.arithmetic(words, kind, values))

  def arithmetic(self, words: Sequence[str], kind: str, values: list[str]) -> str:
    name = words[0]
    if name in FUNCTIONS:
      return FUNCTIONS[name].format(*values)
    if name == "fma":
      return f"{'fma_down' if 'rm' in words else 'std::fma'}({', '.join(values)})"
    if name in ("min", "max"):
      function = f"std::f{name}" if is_real(kind) else f"std::{name}<{cpp_type(kind)}>"
      return f"{function}({values[0]}, {values[1]})"
    if is_real(kind):
      return f"-{values[0]}" if name == "neg" else f"{values[0]} {OPERATORS[name]} {values[1]}"
    if name == "not":
      return f"!{values[0]}" if kind == "pred" else f"~{values[0]}"
    if name == "bfe":
      return f"({values[0]} >> {values[1]}) & ((1U << {values[2]}) - 1)"
    if name in ("div", "rem", "and", "or", "xor"):
      return f"{values[0]} {OPERATORS[name]} {values[1]}"
    # Signed numbers wrap around.
    unsigned = [f"static_cast<{cpp_type('u' + kind[1:])}>({value})" for value in values]
    if name == "neg":
      return f"0 - {unsigned[0]}"
    if name == "mad":
      return f"{unsigned[0]} * {unsigned[1]} + {unsigned[2]}"
    return f"{unsigned[0]} {OPERATORS[name]} {unsigned[1]}"

  def comparison(self, how: str, kind: str, operands: list[str]) -> str:
    x, y = (self.value(operand, kind) for operand in operands[1:3])
    if how == "nan":
      return f"(std::isnan({x}) || std::isnan({y}))"
    if is_real(kind) and how[:-1] in OPPOSITES and how.endswith("u"):
      return f"!({x} {OPPOSITES[how[:-1]]} {y})"
    if is_real(kind) and how == "ne":
      return f"({x} < {y} || {x} > {y})"
    return f"({x} {COMPARISONS[how]} {y})"

  def conversion(self, words: Sequence[str], operands: list[str]) -> str:
    to, of = words[-2:]
    if to == "tf32":
      return self.store(operands[0], "u32", f"rounded_to_tf32({self.value(operands[1], 'f32')})")
    x = self.value(operands[1], of)
    if "sat" in words:
      return self.store(operands[0], to, f"std::fmin(std::fmax({x}, 0.0F), 1.0F)")
    assert is_real(to) or not is_real(of) or "rzi" in words
    return self.store(operands[0], to, f"static_cast<{cpp_type(to)}>({x})")

  def move(self, kind: str, operands: list[str]) -> str:
    to, of = operands
    if to.startswith("{"):
      low, high = operands_of(to[1:-1])
      pair = self.value(of, "u64")
      halves = [(low, pair), (high, f"{pair} >> 32")]
      return " ".join(self.store(half, "u32", f"static_cast<std::uint32_t>({of})") for half, of in halves)
    if of.startswith("{"):
      low, high = (self.value(half, "u32") for half in operands_of(of[1:-1]))
      return self.store(to, "u64", f"(std::uint64_t{{{high}}} << 32 | {low})")
    return self.store(to, kind, self.value(of, kind))

  def access(self, words: Sequence[str], operands: list[str]) -> str:
    name, space, kind = words[0], words[1], words[-1]
    memory, values = (operands[1], operands[0]) if name == "ld" else operands
    registers = operands_of(values[1:-1]) if values.startswith("{") else [values]
    size = width(kind) // 8
    code = f"{{ unsigned char* const at = {self.address(memory, space)}; "
    if space != "param":
      code += f"access<{size * len(registers)}>(at, Space::k{space.capitalize()}, PLACE); "
    for i, register in enumerate(registers):
      if name == "ld":
        code += self.store(register, kind, f"loaded<{cpp_type(kind)}>(at + {i * size})") + " "
      else:
        code += f"stored<{cpp_type(kind)}>(at + {i * size}, {self.value(register, kind)}); "
    return code + "}"

  def shuffle(self, words: Sequence[str], operands: list[str]) -> str:
    to, _, predicate = operands[0].partition("|")
    function = {"bfly": "__shfl_xor_sync", "idx": "__shfl_sync"}[words[2]]
    clamp, mask, value, lanes = (self.value(operands[i], "u32") for i in (3, 4, 1, 2))
    code = f"{{ require_whole_warp({clamp}); "
    code += f"const std::uint32_t got = {function}({mask}, {value}, static_cast<int>({lanes})); "
    code += self.store(to, "u32", "got")
    return code + (self.store(predicate, "pred", "true") if predicate else "") + " }"

  def mma(self, words: Sequence[str], operands: list[str]) -> str:
    assert ".".join(words) == "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"
    d, a, b, c = (operands_of(operand[1:-1]) for operand in operands)
    values = [", ".join(self.value(x, kind) for x in of) for of, kind in ((c, "f32"), (a, "u32"), (b, "u32"))]
    code = f"{{ float d[4] = {{{values[0]}}}; multiply_add(d, {{{values[1]}}}, {{{values[2]}}}); "
    return code + " ".join(self.store(x, "f32", f"d[{i}]") for i, x in enumerate(d)) + " }"

  def function(self, number: int) -> str:
    by_type = defaultdict(list)
    for register in self.registers:
      by_type[cpp_type(self.kind_of(register))].append(register.replace("%", "r_") + "{}")
    variables = [f"  [[maybe_unused]] {kind} {', '.join(names)};" for kind, names in by_type.items()]
    head = f"void kernel_{number}([[maybe_unused]] unsigned char* const* parameters) {{"
    shared = "  [[maybe_unused]] unsigned char* const shared = gpu::shared_memory();"
    end = f'const Registration registration_{number}("{self.name}", kernel_{number});'
    return "\n".join([head, shared, *variables, *self.lines, "}", end])


def translated(ptx: str) -> str:
  """A C++ source with the kernels of a PTX file."""
  text = re.sub(r"//[^\n]*", "", ptx)
  functions: list[str] = []
  for entry in re.finditer(r"\.entry\s+([\w$]+)\s*\((.*?)\)\s*[^{]*\{", text, re.S):
    depth, end = 1, entry.end()
    while depth:
      depth += {"{": 1, "}": -1}.get(text[end], 0)
      end += 1
    functions.append(Kernel(entry[1], entry[2].strip(), text[entry.end() : end - 1]).function(len(functions)))
  return "\n".join(['#include "tests/gpu/ptx/ptx.h"', "namespace che::ptx {", "namespace {", *functions, "}", "}", ""])


if __name__ == "__main__":
  sys.stdout.write(translated(sys.stdin.read()))
