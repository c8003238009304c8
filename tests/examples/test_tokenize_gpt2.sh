#!/usr/bin/env bash
# Runs examples/tokenize_gpt2.py with a vocabulary of 262 tokens and imports what it writes. Needs a package index, once.
#   test_tokenize_gpt2.sh CHE SOURCE_DIR BUILD_DIR
set -euo pipefail
che=$(realpath "$1")
example=$(realpath "$2")/examples/tokenize_gpt2.py
venv=$3/tokenizers-test
[[ -x $venv/bin/python ]] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check tokenizers==0.22.1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$venv/bin/python" - << 'PYTHON'
import json
from tokenizers.pre_tokenizers import ByteLevel
merges = ["h e", "l l", "he ll", "hell o", "\u0120 hello"]
words = [*sorted(ByteLevel.alphabet()), *("".join(merge.split()) for merge in merges), "<|endoftext|>"]
json.dump({word: i for i, word in enumerate(words)}, open("vocab.json", "w"))
open("merges.txt", "w").write("#version: 0.2\n" + "\n".join(merges) + "\n")
open("texts.jsonl", "w").write("\n".join(json.dumps({"text": text}) for text in ("hello hello", "", "llh\u00e9")))
open("more.txt", "w").write("hello")
PYTHON
HF_HUB_OFFLINE=1 "$venv/bin/python" "$example" vocab.json merges.txt texts.jsonl more.txt tiny > out
grep -qx "3 documents, 10 tokens" out
command=$(grep -x "che corpus import tiny -o FOLDER --vocabulary 262 --end 261" out)
command=${command/#che/$che}
${command/FOLDER/corpus} --split 1,1,1 > card
grep -qx "tokens      10 in 3 documents" card
grep -qx "test        2 tokens in 1 document, the longest has 2" card
python3 - << 'PYTHON'
import json
import struct
word = json.load(open("vocab.json"))
expected = [word["hello"], word["\u0120hello"], word["<|endoftext|>"],
            # The two bytes of the accented letter, as GPT-2 writes them.
            word["ll"], word["h"], word["\u00c3"], word["\u00a9"], word["<|endoftext|>"], word["hello"], word["<|endoftext|>"]]
assert list(struct.unpack("<10H", open("corpus/tokens.bin", "rb").read())) == expected
PYTHON
python3 -c 'import json; words = json.load(open("vocab.json")); del words["<|endoftext|>"]; json.dump(words, open("vocab.json", "w"))'
if "$venv/bin/python" "$example" vocab.json merges.txt more.txt tiny 2> error; then exit 1; fi
grep -q "vocab.json has no <|endoftext|>" error
