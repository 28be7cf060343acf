// The page to try options, in a browser: another page fills in its form as a person does, and says what it then shows.

import Foundation
import KFImageURLs
import KingfisherServer
import Testing

@Suite(.timeLimit(.minutes(5)), .enabled(if: Chromium.isInstalled)) struct BrowserTests {
    /// What the page shows after its button was pressed.
    private struct Shown: Decodable {
        let status: String
        let url: String
        let copied: String
        /// The status code of what was copied.
        let code: Int
        let isImage: Bool
        let width: Int
        let height: Int
    }

    @Test("The page shows the image that was asked for, its size and a URL to copy, and why there is none")
    func form() async throws {
        try await RenderingServer.run(pages: ["/driver": Self.driver]) {
            $0.takesUploads = true
        } _: { server in
            let place = "http://127.0.0.1:\(server.port)"
            let text = try Chromium.text(of: "found", in: place + "/driver")
            let shown = try #require(try? JSONDecoder().decode([Shown].self, from: Data(text.utf8)), "\(text)")
            try #require(shown.count == 5)
            let urls = [
                "/_/rs:fill:120:90/plain/local%3A%2F%2F%2Fa.png@webp", "/_/w:50/dpr:2/plain/local%3A%2F%2F%2Fb.jpg",
                "/_/plain/local%3A%2F%2F%2Fmissing.png", "/_/rs:x/plain/local%3A%2F%2F%2Fa.png", "/_/w:40/f:png",
            ]
            #expect(shown.map(\.url) == urls.map { place + $0 })
            #expect(shown.map(\.copied) == shown.map(\.url))
            #expect(shown.map(\.code) == [200, 200, 404, 404, 404])
            #expect(shown.map(\.isImage) == [true, true, false, false, true])
            #expect(shown.prefix(2).map { [$0.width, $0.height] } == [[120, 90], [100, 50]])
            for (page, words) in zip(shown, [["200 · image/webp", "120×90"], ["200 · image/jpeg", "100×50"]]) {
                #expect(words.allSatisfy(page.status.contains), "\(page.status)")
            }
            // Of a file that was dropped on the page, the URL has no source.
            #expect(shown[4].status.contains("200 · image/png") && [shown[4].width, shown[4].height] == [40, 20])
            #expect(shown[2].status.contains("404") && shown[2].status.contains("no such file"), "\(shown[2].status)")
            #expect(shown[3].status.contains("404") && shown[3].status.contains("Option \"rs\""), "\(shown[3].status)")
        }
    }

    /// A page with the other one in a frame.
    ///
    /// The clipboard is replaced: pages without a person may not write to it.
    private static let driver = """
        <!doctype html>
        <meta charset="utf-8">
        <iframe id="page" src="/"></iframe>
        <pre id="found"></pre>
        <img src="/wait" alt="">
        <script>
        const questions = [
          { source: 'local:///a.png', format: 'webp', rs: 'fill:120:90' },
          { source: 'local:///b.jpg', format: '', w: '50', dpr: '2' },
          { source: 'local:///missing.png', format: '' },
          { source: 'local:///a.png', format: '', rs: 'x' },
          { source: 'local:///a.png', format: 'png', w: '40', file: '/_/plain/local:///b.jpg' },
        ];
        const frame = document.getElementById('page');
        function put(input, value) {
          input.value = value;
          input.dispatchEvent(new Event('input', { bubbles: true }));
        }
        async function drop(page, path) {
          const bytes = await (await fetch(path)).blob(), files = new DataTransfer();
          files.items.add(new File([bytes], 'file'));
          page.dispatchEvent(new DragEvent('drop', { dataTransfer: files, cancelable: true }));
        }
        async function ask({ source, format, file, ...options }) {
          const page = frame.contentDocument, form = page.getElementById('form');
          const status = page.getElementById('status'), result = page.getElementById('result');
          put(form.source, source);
          put(form.format, format);
          for (const input of form.querySelectorAll('[data-option]')) put(input, options[input.dataset.option] ?? '');
          const answered = new Promise(resume => new MutationObserver(resume).observe(status, { childList: true }));
          if (file) await drop(page, file); else form.querySelector('button').click();
          await answered;
          const url = page.getElementById('url').value;
          let copied = '';
          const clipboard = { writeText: async text => { copied = text; } };
          Object.defineProperty(frame.contentWindow.navigator, 'clipboard', { value: clipboard, configurable: true });
          page.getElementById('copy').click();
          const code = (await fetch(copied)).status;
          const { naturalWidth: width, naturalHeight: height } = result;
          return { status: status.textContent, url, copied, code, isImage: !result.hidden, width, height };
        }
        frame.addEventListener('load', async () => {
          const shown = [], found = document.getElementById('found');
          try {
            for (const question of questions) shown.push(await ask(question));
            found.textContent = JSON.stringify(shown);
          } catch (error) {
            found.textContent = error.stack;
          }
          fetch('/done');
        });
        </script>
        """
}
