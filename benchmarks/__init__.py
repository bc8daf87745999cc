"""Speed and reached accuracy of every kernel; table.py prints the ratios that the goals are about."""
