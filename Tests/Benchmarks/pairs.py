"""Says how fast a program is beside another one: rounds in pairs, the seconds of each on a line of a file.

    pairs.py COUNT THINGS OTHER FILE OWN FILE WHAT WANTED [--strict]

Each round is a pair: what else the machine does changes from round to round.
"""
import statistics
import sys

count, things, other, other_file, own, own_file, what, wanted = sys.argv[1:9]
others, owns = ([float(line) for line in open(path)] for path in (other_file, own_file))
ratios = [one / two for one, two in zip(others, owns)]
ratio = statistics.median(ratios)
is_met = ratio >= float(wanted)
print(f"{other} {int(count) / statistics.median(others):,.0f} {things} a second, "
      f"{own} {int(count) / statistics.median(owns):,.0f}; medians of {len(others)} rounds")
print(f"{what:<48} {ratio:12.2f} {'x':<11} >= {wanted:>8}   "
      f"{'met' if is_met else 'MISSED'}   ({min(ratios):.2f} to {max(ratios):.2f})")
sys.exit(1 if "--strict" in sys.argv[9:] and not is_met else 0)
