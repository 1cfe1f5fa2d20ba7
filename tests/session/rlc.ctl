cmodel
      simutime 2E-5
      step 2E-7
      commupoints 101
      input 1, u(independ, 10.0)

      ctblock
        scale = 1
        XCCC = 1
        label TRY
        drunr | if XCCC < 0 then XCCC = -XCCC
                                 scale = 2*scale
                                 go to TRY
                else proceed
      ctend

      outblock OUT
        dispt y1, y2
      outend
end
