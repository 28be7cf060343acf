// The style sheet and the save dialog, by the calls that the version of GTK has.
#if __has_include(<gtk/gtk.h>)
#include "CKFDesktop.h"

void kf_css_load(GtkCssProvider *provider, const char *text) {
#if GTK_CHECK_VERSION(4, 12, 0)
    gtk_css_provider_load_from_string(provider, text);
#else
    gtk_css_provider_load_from_data(provider, text, -1);
#endif
}

/// A question that is not answered yet.
typedef struct {
    kf_save_answer call;
    void *context;
} pending;

/// Answers and frees the request. Takes over the file, which may be NULL.
static void answer(pending *request, GFile *file) {
    char *path = file ? g_file_get_path(file) : NULL;
    request->call(path, request->context);
    g_free(path);
    g_clear_object(&file);
    g_free(request);
}

#if GTK_CHECK_VERSION(4, 10, 0)
static void on_saved(GObject *dialog, GAsyncResult *result, void *context) {
    answer(context, gtk_file_dialog_save_finish(GTK_FILE_DIALOG(dialog), result, NULL));
}

static void show(GtkWindow *parent, const char *title, const char *name, pending *request) {
    GtkFileDialog *dialog = gtk_file_dialog_new();
    gtk_file_dialog_set_title(dialog, title);
    gtk_file_dialog_set_initial_name(dialog, name);
    gtk_file_dialog_save(dialog, parent, NULL, on_saved, request);
    g_object_unref(dialog);
}
#else
static void on_response(GtkNativeDialog *dialog, int response, void *context) {
    answer(context, response == GTK_RESPONSE_ACCEPT ? gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog)) : NULL);
    g_object_unref(dialog);
}

static void show(GtkWindow *parent, const char *title, const char *name, pending *request) {
    GtkFileChooserNative *dialog =
        gtk_file_chooser_native_new(title, parent, GTK_FILE_CHOOSER_ACTION_SAVE, "_Save", "_Cancel");
    gtk_file_chooser_set_current_name(GTK_FILE_CHOOSER(dialog), name);
    g_signal_connect(dialog, "response", G_CALLBACK(on_response), request);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}
#endif

void kf_save_dialog_show(
    GtkWindow *parent, const char *title, const char *name, kf_save_answer call, void *context) {
    pending *request = g_new(pending, 1);
    *request = (pending){call, context};
    show(parent, title, name, request);
}
#endif
