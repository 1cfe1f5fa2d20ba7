within ;
model BouncingBall "BouncingBall, flat, as bgm writes it"
  parameter Real e = 0.8 "part of the speed that is left";
  parameter Real h0(unit = "m") = 1 "height at first";
  constant Real g(unit = "m/s2") = 9.81;
  output Real h(unit = "m", start = h0, fixed = true) "height";
  discrete output Real n(start = 0, fixed = true) "number of impacts";
  Real v(unit = "m/s", start = 0, fixed = true) "speed upwards";
equation
  der(h) = v;
  der(v) = -g;
  when h < 0 then
    n = pre(n) + 1;
    reinit(v, -e*pre(v));
  end when;
  annotation(experiment(StartTime = 0, StopTime = 3.5, Tolerance = 1e-8, Interval = 0.005));
end BouncingBall;
