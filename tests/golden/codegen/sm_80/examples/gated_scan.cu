refused: region `Y` does not fit target `sm_80`: `decay` has several parts
