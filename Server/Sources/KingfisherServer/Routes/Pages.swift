// The pages at `/`: a form on which URLs are tried, for those who develop (`kf-server --develop`), or a few words about
// what is here. For the routes.

import KFImageURLs

/// A form with the source and all options of the table, the result beside it, its size and time, and the URL to copy.
enum FormPage {
    /// What the page may do, for its browser.
    static let policy =
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; img-src blob:"

    /// The page of a server; where its URLs are signed, the signature must be put in.
    ///
    /// - Parameters:
    ///   - settings: What its URLs are like.
    ///   - takesUploads: Whether a file can be sent in place of a source.
    /// - Returns: The page.
    static func html(_ settings: URLSettings, takesUploads: Bool) -> String {
        let groups = ImageOption.Group.allCases.filter { $0 != .limits || settings.allowsSecurityOptions }
        let sections = settings.allowsOnlyPresets ? presets : groups.map(section).joined(separator: "\n")
        let signature = settings.signatures.pairs.isEmpty ? "_" : ""
        let formats = FileFormat.allCases.filter(settings.writableFormats.contains)
            .map { "<option>\(escaped($0.rawValue))</option>" }.joined()
        return """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>Images</title>
            <style>\(style)</style>
            <form id="form" data-prefix="\(escaped(settings.prefix))" data-separator="\(escaped(settings.argumentsSeparator))">
            <label>Source <input name="source" required value="local:///gallery.jpg"></label>
            \(takesUploads ? file : "")
            <label>Signature <input name="signature" value="\(signature)" placeholder="of the path"></label>
            <label>Format <select name="format"><option value="">any</option>\(formats)</select></label>
            <button>Show</button>
            \(sections)
            </form>
            <main>
            <p><input id="url" readonly aria-label="URL"> <button id="copy" type="button">Copy</button></p>
            <p id="status" role="status">Nothing has been asked for yet.</p>
            <img id="result" alt="" hidden>
            </main>
            <script>\(script)</script>
            </html>
            """
    }

    private static let file = """
        <label title="Or drop it on this page; it is sent in place of the source.">File <input type="file" name="file"></label>
        """

    private static let presets = "<label>presets <input data-option=\"\" placeholder=\"name:name\"></label>"

    private static func section(of group: ImageOption.Group) -> String {
        let options = OptionTable.all.filter { $0.group == group }.map { option in
            let name = option.names[option.names.count > 1 ? 1 : 0]
            let arguments = option.arguments.map(\.name).joined(separator: ":")
            return """
                <label title="\(escaped(option.help))">\(escaped(option.names[0])) \
                <input data-option="\(escaped(name))" placeholder="\(escaped(arguments))"></label>
                """
        }
        let isOpen = group == .size ? " open" : ""
        return "<details\(isOpen)><summary>\(group.rawValue)</summary>\n\(options.joined(separator: "\n"))\n</details>"
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
    }

    private static let style = """
        body { display: flex; flex-wrap: wrap; gap: 2em; margin: 1.5em; font: 15px system-ui, sans-serif; color-scheme: light dark }
        form { width: 24em } main { flex: 1; min-width: 20em }
        label { display: flex; justify-content: space-between; gap: 1em; margin: .3em 0 }
        label input, label select { width: 14em; box-sizing: border-box; font: inherit }
        summary { margin-top: .8em; font-weight: 600 } p { display: flex; gap: .5em } #url { flex: 1; font: 14px monospace }
        #result { max-width: 100%; background: repeating-conic-gradient(#8884 0 25%, transparent 0 50%) 0 0 / 16px 16px }
        """

    private static let script = """
        const form = document.getElementById('form'), result = document.getElementById('result');
        const status = document.getElementById('status'), url = document.getElementById('url');
        const file = () => form.file?.files[0];
        function path() {
          const format = form.format.value;
          const options = [...form.querySelectorAll('[data-option]')].filter(input => input.value)
            .map(input => (input.dataset.option ? input.dataset.option + ':' : '') + input.value)
            .concat(file() && format ? ['f:' + format] : [])
            .map(text => text.replaceAll(':', form.dataset.separator));
          const start = [form.dataset.prefix, form.signature.value || '_', ...options];
          if (file()) return start.join('/') + (options.length ? '' : '/');
          return [...start, 'plain', encodeURIComponent(form.source.value)].join('/') + (format ? '@' + format : '');
        }
        function showURL() { url.value = location.origin + path(); }
        async function show(event) {
          event?.preventDefault();
          showURL();
          const started = performance.now();
          const request = file() ? { method: 'POST', body: file() } : { cache: 'no-store' };
          const answer = await fetch(path(), request).catch(error => error);
          if (!(answer instanceof Response)) { status.textContent = String(answer); return; }
          const bytes = await answer.blob(), milliseconds = Math.round(performance.now() - started);
          const facts = [answer.status, bytes.type, bytes.size + ' bytes', milliseconds + ' ms'];
          URL.revokeObjectURL(result.src);
          result.hidden = !bytes.type.startsWith('image/');
          if (result.hidden) {
            facts.push(await bytes.text());
          } else {
            result.src = URL.createObjectURL(bytes);
            await result.decode().then(() => facts.push(result.naturalWidth + '×' + result.naturalHeight)).catch(() => {});
          }
          status.textContent = facts.join(' · ');
        }
        form.addEventListener('submit', show);
        form.addEventListener('input', showURL);
        document.addEventListener('dragover', event => event.preventDefault());
        document.addEventListener('drop', event => {
          event.preventDefault();
          if (!form.file || !event.dataTransfer.files.length) return;
          form.file.files = event.dataTransfer.files;
          show();
        });
        document.getElementById('copy').addEventListener('click', () => navigator.clipboard.writeText(url.value));
        showURL();
        """
}

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
