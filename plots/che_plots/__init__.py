"""Figures of the results of che, drawn with matplotlib from the CSV files that `che plot` writes."""

import os
import sys


def set_up() -> None:
  """Gives matplotlib the style of che; a program whose Python lacks it goes on in /usr/bin/python3, Debian's."""
  os.environ["MPLBACKEND"] = "agg"  # An inherited backend, such as a notebook's, may be unknown here.
  try:
    import matplotlib
  except ImportError:
    system = "/usr/bin/python3"
    if sys.prefix != "/usr" and os.access(system, os.X_OK):
      path = [os.path.dirname(__path__[0]), *filter(None, [os.environ.get("PYTHONPATH")])]
      os.execve(system, [system, *sys.argv], {**os.environ, "PYTHONPATH": os.pathsep.join(path)})
    remedy = "Debian: apt-get install python3-matplotlib; or: pip install matplotlib"
    sys.exit(f"matplotlib is missing; install it ({remedy})")
  from che_plots.style import RC

  matplotlib.rcdefaults()  # A file matplotlibrc of the working folder has been read.
  matplotlib.rcParams.update(RC)
