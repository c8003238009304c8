#!/usr/bin/env python3
"""Prints what failed tests printed, again and last, so that the end of a long log says why it failed.

scripts/failed_tests.py JUNIT_FILE     (of ctest --output-junit)
"""

import sys
import xml.etree.ElementTree as xml

MOST_LINES = 60

for test in xml.parse(sys.argv[1]).getroot().iter("testcase"):
    skipped = test.find("skipped")
    reason = "" if skipped is None else skipped.get("message", "")
    # Tests that could not be started; those that skip themselves or are disabled say so.
    not_started = test.get("status") == "notrun" and not reason.startswith(("SKIP_", "Disabled"))
    if test.get("status") != "fail" and not not_started:
        continue
    lines = (test.findtext("system-out") or "").splitlines()
    if not_started:
        lines.append(f"not started: {reason}")
    print(f"\ntest: {test.get('name')} failed; the last of its output, at most {MOST_LINES} lines:")
    print("\n".join(lines[-MOST_LINES:]))
