refused: region `C` does not fit target `sm_80`: `C` is a scan or folds with a monoid of your own
