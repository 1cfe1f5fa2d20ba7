# The life of an instance: inputs from outside, states kept and put back, parameters before the start and later, failures.
import os
import sys

import numpy as np
from fmpy import extract, read_model_description, simulate_fmu
from fmpy.fmi2 import FMU2Model, FMU2Slave, defaultCallbacks, fmi2CallbackFunctions, fmi2CallbackLoggerTYPE
from fmpy.fmi1 import FMICallException

folder = sys.argv[1]
said = []


def file(name):
    return os.path.join(folder, name + '.fmu')


class Fmu:
    def __init__(self, name):
        self.about = read_model_description(file(name))
        self.folder = extract(file(name))
        self.at = {variable.name: variable.valueReference for variable in self.about.modelVariables}
        self.logger = fmi2CallbackLoggerTYPE(
            lambda environment, instance, status, category, message: said.append(message.decode().replace('%%', '%')))

    def make(self, kind=FMU2Slave, guid=None):
        unit = kind(guid=guid or self.about.guid, unzipDirectory=self.folder, instanceName='one',
                    modelIdentifier=self.about.coSimulation.modelIdentifier)
        callbacks = fmi2CallbackFunctions()
        callbacks.logger = self.logger
        callbacks.allocateMemory = defaultCallbacks.allocateMemory
        callbacks.freeMemory = defaultCallbacks.freeMemory
        unit.instantiate(callbacks=callbacks)
        return unit


def begun(unit, until=None, **values):
    unit.setupExperiment(startTime=0.0, stopTime=until, tolerance=1e-9)
    for at, value in values.get('real', {}).items():
        unit.setReal([at], [value])
    unit.enterInitializationMode()
    unit.exitInitializationMode()
    return unit


def refused(call, *words):
    said.clear()
    try:
        call()
    except (FMICallException, Exception):
        text = ' / '.join(said)
        assert all(word in text for word in words), (words, said)
        return
    raise AssertionError(('nothing was refused', words))


# States are kept and put back, also as bytes and into another instance.
ball = Fmu('bouncing_ball')
h, v, n = ball.at['h'], ball.at['v'], ball.at['n']


def fly(unit, first, last):
    rows = []
    for step in range(first, last):
        unit.doStep(0.1*step, 0.1)
        rows.append(unit.getReal([h, v, n]))
    return np.array(rows)


one = begun(ball.make(), 3.5)
fly(one, 0, 10)
state = one.getFMUstate()
as_bytes = one.serializeFMUstate(state)
before = one.getReal([h, v, n])
once = fly(one, 10, 30)
assert once[-1][2] > before[2] > 0
one.setFMUstate(state)
assert one.getReal([h, v, n]) == before
assert np.array_equal(fly(one, 10, 30), once)
two = ball.make()
two.setFMUstate(two.deSerializeFMUstate(as_bytes))
assert np.array_equal(fly(two, 10, 30), once)
refused(lambda: two.deSerializeFMUstate(b'\0'*len(as_bytes)), 'not a state of this unit')
one.freeFMUstate(state)

# A start value follows its parameter; a run can begin again.
two.terminate()
two.reset()
begun(two, 3.5, real={ball.at['h0']: 2.0})
assert two.getReal([h]) == [2.0]
two.doStep(0.0, 0.1)
assert abs(two.getReal([h])[0] - (2.0 - 9.81*0.1**2/2)) < 1e-9

# Calls that cannot be served are told, by the name of the variable.
refused(lambda: two.setReal([h], [1.0]), '`h`')
refused(lambda: two.setReal([ball.at['g']], [1.0]), '`g`')
refused(lambda: two.getReal([9999]), '9999')
refused(lambda: two.doStep(0.0, 0.1), 'not where the last step ended')
refused(lambda: two.doStep(0.1, -0.1), 'length of the step')
refused(lambda: two.setupExperiment(startTime=0.0), 'does not allow')
refused(lambda: ball.make(guid='{other}'), 'guid')

# Failures have equation and Time, at the start too; a name holds what is special in formats.
pole = Fmu('pole')
refused(lambda: begun(pole.make(), real={pole.at['a']: 0.0}), 'fmi2ExitInitializationMode', 'a divisor is zero at Time = 0', 'x*y = 1')
refused(lambda: begun(pole.make(FMU2Model), real={pole.at['a']: 0.0}), 'a divisor is zero at Time = 0', 'x*y = 1')
unit = begun(pole.make(), 3.0)
unit.doStep(0.0, 0.5)
refused(lambda: unit.doStep(0.5, 0.5), 'fmi2DoStep', 'a divisor is zero at Time = 1', 'x*y = 1')
chatter = Fmu('chatter')
refused(lambda: begun(chatter.make(), 3.0).doStep(0.0, 3.0), 'events follow each other without end at Time = 1', 'x > 0')
refused(lambda: simulate_fmu(file('chatter'), fmi_type='ModelExchange', stop_time=3.0, output_interval=0.5,
                             logger=lambda environment, instance, status, category, message: said.append(message.decode())),
        'events follow each other without end at Time = 1', 'x > 0')

# Inputs come from outside, with their derivatives; a step of one that is false or true is an event.
time = np.linspace(0.0, 2.0, 2001)
time = np.concatenate([time[:1001], time[1000:]])
on = np.arange(2002) < 1001
kinds = [('time', float), ('u', float), ('der(u)', float), ('on', bool)]
signals = np.array(list(zip(time, np.sin(time), np.cos(time), on)), dtype=kinds)
columns = ['y', 'z', 'w', 'f', 'n', 'c', 'lit', 'i', 's', 'odd']
for kind in ['CoSimulation', 'ModelExchange']:
    rows = simulate_fmu(file('awkward'), fmi_type=kind, stop_time=2.0, output_interval=0.001, relative_tolerance=1e-9,
                        input=signals, output=columns, record_events=False)
    t = rows['time']
    # In co-simulation an input is that of the beginning of the step.
    late = 0.0 if kind == 'ModelExchange' else 0.001
    given = np.sin(np.maximum(t - late, 0.0))
    assert np.abs(rows['y'] - given).max() < 1e-6, kind
    assert np.abs(rows['i'] - 0.5*np.cos(np.maximum(t - late, 0.0))).max() < 1e-6, kind
    assert np.abs(rows['z'] - (2.0 + np.where(t < 1.0, 2.0*t, 4.0 - 2.0*t))).max() < 1e-6, kind
    # Not at the moments of events themselves.
    for column, wanted, place in [('w', np.where(given > 0.5, 1.0, 2.0), given - 0.5), ('f', np.floor(3.0*t), (3.0*t + 0.5) % 1.0 - 0.5),
                                  ('c', np.ceil(2.0*t), (2.0*t + 0.5) % 1.0 - 0.5), ('lit', t > 0.75, t - 0.75),
                                  ('n', 1.0 + np.floor(4.0*t), (4.0*t + 0.5) % 1.0 - 0.5)]:
        clear = np.abs(place) > 1e-6
        assert np.array_equal(rows[column][clear].astype(float), wanted[clear].astype(float)), (kind, column)
        assert np.count_nonzero(clear) > 1900

# A parameter is set between steps, and a sample of that moment is not taken twice.
awkward = Fmu('awkward')
unit = begun(awkward.make(), 2.0)
unit.doStep(0.0, 0.5)
z, count = unit.getReal([awkward.at['z'], awkward.at['n']])
unit.setReal([awkward.at['k']], [-1.0])
unit.setReal([awkward.at['u']], [0.75])
unit.doStep(0.5, 0.1)
after = unit.getReal([awkward.at['z'], awkward.at['n'], awkward.at['w'], awkward.at['twice']])
assert abs(after[0] - (z - 0.1)) < 1e-9 and after[1:] == [count, 1.0, 2.0], (z, count, after)
assert count == 3.0

# Steps of any length come to the same.
whole = begun(awkward.make(), 2.0)
whole.doStep(0.0, 2.0)
parts = begun(awkward.make(), 2.0)
reached = 0.0
for length in [0.01, 0.24, 0.5, 1e-9, 0.25 - 1e-9, 0.999, 0.001]:
    parts.doStep(reached, length)
    reached += length
names = [awkward.at[name] for name in ['z', 's', 'f', 'n', 'c']]
assert np.abs(np.array(whole.getReal(names)) - np.array(parts.getReal(names))).max() < 1e-8, (whole.getReal(names), parts.getReal(names))
print('all is well')
