RLC: 18 equations, 18 unknowns

U0   E0 = e
R1   R * f = e
R2   R * f = e
L1   I * derf = e
C1   C * dere = f
RLC  U0.E0 = u
     y1 = C1.e
     y2 = R2.f
     L1.e = B1.x
     U0.e = L1.e
     C1.e = B2.y
     R2.e = C1.e
     C1.f + R2.f = B2.x
     B2.x = B3.x
     B1.y = B2.x
     B3.y + B2.y = B1.x
     R1.e = B3.y
     R1.f = B3.x
