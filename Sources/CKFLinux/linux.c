#include "CKFLinux.h"
