// Own programs of those who do not use GTK are built without a word about it, so SwiftPM does not look for it.
#if !__has_include(<gtk/gtk.h>)
#error "GTK 4 is missing: apt-get install libgtk-4-dev"
#endif
#include <gtk/gtk.h>
#include <glib-unix.h>
