// GTK, for the window that the widgets are measured in.
#include <gtk/gtk.h>
