refused: region `Y` does not fit target `sm_80`: `decay` is a selection or has several parts
