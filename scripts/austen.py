"""Writes the six novels of data/text/austen from Debian's package r-cran-janeaustenr 1.0.0.

    apt-get download r-cran-janeaustenr && dpkg-deb -x r-cran-janeaustenr_1.0.0-1_all.deb package
    pip install rdata==1.1.0
    python3 scripts/austen.py package data/text/austen

The package holds each novel as a vector of lines, in a database that R loads lazily. The novels are in the public
domain. `corpus.json` in that folder has the SHA-256 of each file, and `che` refuses a file with another.
"""

import bz2
import lzma
import struct
import sys
import zlib
from pathlib import Path

import rdata

DATABASE = "usr/lib/R/site-library/janeaustenr/data/Rdata"
NOVELS = {
  "emma": "emma",
  "mansfieldpark": "mansfield_park",
  "prideprejudice": "pride_and_prejudice",
  "sensesensibility": "sense_and_sensibility",
  "northangerabbey": "northanger_abbey",
  "persuasion": "persuasion",
}


def unpacked(record):
  """The serialized object in a record of the database: four bytes of size, then a stream of one of three kinds."""
  (size,) = struct.unpack(">I", record[:4])
  if record[4:5] == b"2":
    data = bz2.decompress(record[5:])
  elif record[4:5] == b"Z":
    data = lzma.decompress(record[5:], format=lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2}])
  else:
    data = zlib.decompress(record[4:])
  if len(data) != size:
    raise SystemExit(f"a record has {len(data)} bytes, not {size}")
  return data


def read(data):
  return rdata.conversion.convert(rdata.parser.parse_data(data))


def main(package, folder):
  base = Path(package) / DATABASE
  index = read(base.with_suffix(".rdx").read_bytes())
  records = base.with_suffix(".rdb").read_bytes()
  for name, (offset, size) in index["variables"].items():
    if name not in NOVELS:
      continue
    lines = read(unpacked(records[offset : offset + size]))
    text = "\n".join(lines) + "\n"
    (Path(folder) / f"{NOVELS[name]}.txt").write_bytes(text.encode())


if __name__ == "__main__":
  main(*sys.argv[1:])
