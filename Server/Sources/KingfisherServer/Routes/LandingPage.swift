// What `/` is answered with: a page that says what is here. For the routes.

enum LandingPage {
    static let html = """
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        <title>Image server</title>
        <p>This is kf-server, an image server. The path of an image is
        <code>/SIGNATURE/OPTION:ARGUMENT/plain/SOURCE@FORMAT</code>, and <code>/health</code> says whether it works.
        </html>
        """
}
