within ;
model Thermostat "Thermostat, flat, as bgm writes it"
  parameter Real R(unit = "K/W") = 0.01 "between the room and the outside";
  parameter Real C(unit = "J/K") = 500000 "heat capacity of the room";
  parameter Real P(unit = "W") = 3000 "heating power";
  parameter Real Tout(unit = "degC") = 5 "temperature outside";
  parameter Real Ton(unit = "degC") = 19;
  parameter Real Toff(unit = "degC") = 21;
  output Real T(unit = "degC", start = 15, fixed = true) "temperature of the room";
  output Boolean on(start = false, fixed = true) "whether the heater is on";
equation
  C*der(T) = (if on then P else 0) - (T - Tout)/R;
  on = T < Ton or pre(on) and not (T > Toff);
  annotation(experiment(StartTime = 0, StopTime = 20000, Tolerance = 1e-8, Interval = 40));
end Thermostat;
