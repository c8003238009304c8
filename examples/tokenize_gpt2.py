#!/usr/bin/env python3
"""Writes texts as GPT-2's tokens in GPT-NeoX's file format, which `che corpus import` reads.

    pip install tokenizers
    tokenize_gpt2.py vocab.json merges.txt articles.jsonl corpora/articles
    che corpus import corpora/articles -o corpora/arxiv --vocabulary 50257 --end 50256

vocab.json and merges.txt are the vocabulary of GPT-2, which you bring. A .txt is a document, a line of a .jsonl has one as its
member `text`; empty ones are dropped. The last line printed is the import command with the vocabulary's own numbers.
"""

import argparse
import json
import pathlib
import struct

import tokenizers

END = "<|endoftext|>"


def documents(path):
  if path.suffix == ".jsonl":
    with open(path, encoding="utf-8") as lines:
      yield from (json.loads(line)["text"] for line in lines)
  else:
    yield path.read_text(encoding="utf-8")


def main():
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  for name in ("vocabulary", "merges", "texts"):
    parser.add_argument(name, type=pathlib.Path, nargs="+" if name == "texts" else None)
  parser.add_argument("prefix", help="the files are PREFIX.bin and PREFIX.idx")
  arguments = parser.parse_args()
  tokenizer = tokenizers.ByteLevelBPETokenizer(str(arguments.vocabulary), str(arguments.merges))
  end = tokenizer.token_to_id(END)
  if end is None:
    parser.error(f"{arguments.vocabulary} has no {END}, which stands behind each document")
  ids = tokenizer.get_vocab_size()
  code, letter = (8, "H") if ids <= 65500 else (4, "i")  # uint16 or int32, as GPT-NeoX chooses.
  lengths = []
  with open(arguments.prefix + ".bin", "wb") as tokens:
    for text in (text for path in arguments.texts for text in documents(path) if text):
      encoded = [*tokenizer.encode(text).ids, end]
      lengths.append(len(encoded))
      tokens.write(struct.pack(f"<{len(encoded)}{letter}", *encoded))
  offsets = [0]
  for length in lengths:
    offsets.append(offsets[-1] + length * struct.calcsize("<" + letter))
  n = len(lengths)
  with open(arguments.prefix + ".idx", "wb") as index:
    index.write(b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, code, n, n + 1))
    index.write(struct.pack(f"<{n}i{n}q{n + 1}q", *lengths, *offsets[:-1], *range(n + 1)))
  print(f"{n} documents, {sum(lengths)} tokens")
  print(f"che corpus import {arguments.prefix} -o FOLDER --vocabulary {ids} --end {end}")


if __name__ == "__main__":
  main()
