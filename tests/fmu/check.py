# Judges FMUs with fmpy: validates them, runs them in both ways, and writes what came out.
#
#   check.py FOLDER NAME...   for each NAME.fmu, at the times and with the columns of NAME.csv: NAME.CoSimulation.csv, NAME.ModelExchange.csv
import csv
import os
import sys

import numpy as np
from fmpy import read_model_description, simulate_fmu
from fmpy.validation import validate_fmu

folder = sys.argv[1]
for name in sys.argv[2:]:
    fmu = os.path.join(folder, name + '.fmu')
    problems = validate_fmu(fmu)
    assert not problems, (name, problems)
    with open(os.path.join(folder, name + '.csv')) as file:
        rows = list(csv.reader(file))
    times = [float(row[0]) for row in rows[1:]]
    known = {variable.name for variable in read_model_description(fmu).modelVariables}
    columns = [column for column in rows[0][1:] if column in known]
    assert columns, name
    missing = [column for column in rows[0][1:] if column not in known]
    assert not missing, (name, missing)
    for kind in ['CoSimulation', 'ModelExchange']:
        found = simulate_fmu(fmu, fmi_type=kind, start_time=times[0], stop_time=times[-1], output_interval=times[1] - times[0],
                             relative_tolerance=1e-9, output=columns, record_events=False)
        with open(os.path.join(folder, f'{name}.{kind}.csv'), 'w') as file:
            out = csv.writer(file, lineterminator='\n')
            out.writerow(['Time'] + columns)
            for row in found:
                out.writerow([repr(float(row['time']))] + [repr(float(row[column])) for column in columns])
