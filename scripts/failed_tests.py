#!/usr/bin/env python3
"""Prints what failed tests printed, again and last, so that the end of a long log says why it failed.

scripts/failed_tests.py JUNIT_FILE     (of ctest --output-junit)
"""

import sys
import xml.etree.ElementTree as xml

MOST_LINES = 60

for test in xml.parse(sys.argv[1]).getroot().iter("testcase"):
    if test.get("status") != "fail":
        continue
    lines = (test.findtext("system-out") or "").splitlines()
    print(f"\ntest: {test.get('name')} failed; the last of its output, at most {MOST_LINES} lines:")
    print("\n".join(lines[-MOST_LINES:]))
