// An example for each option that takes a value: for the table of options in docs/kf.md, whose test has the parser
// accept them.

/// Command lines that show the values of options.
enum OptionExamples {
    /// By long names; one for each meaning that an option has, which depends on the command.
    ///
    /// A flag is its own example.
    static let all: KeyValuePairs<String, String> = [
        "alt": "kf variants photo.jpg --widths 400,800 -o out --html --alt 'A red door'",
        "background": "kf sheet *.jpg -o sheet.png --background '#222'",
        "cacert": "kf fetch https://example.com/photo.jpg -o photo.jpg --cacert company.pem",
        "cache-dir": "kf prefetch list.txt --cache-dir cache",
        "cell": "kf sheet *.jpg -o sheet.png --cell 120x90",
        "columns": "kf sheet *.jpg -o sheet.png --columns 6",
        "concurrency": "kf prefetch list.txt -j 8",
        "concurrency": "kf process *.jpg -o small/ -j 2",
        "connect-timeout": "kf prefetch list.txt --connect-timeout 3",
        "distance": "kf dupes photos --distance 3",
        "effort": "kf process in.png -o out.avif --effort 8",
        "format": "kf process *.png -o out/ --format webp",
        "formats": "kf variants photo.jpg --widths 400,800 --formats avif,webp,jpeg -o out",
        "frames": "kf show clip.gif --frames 1",
        "gap": "kf sheet *.jpg -o sheet.png --gap 4",
        "header": "kf fetch https://example.com/photo -o photo.avif --header 'Accept: image/avif'",
        "keep": "kf process photo.jpg -o small.jpg --process 'thumbnail(1600x)' --keep exif",
        "loops": "kf show clip.gif --loops 1",
        "max-bytes": "kf prefetch list.txt --max-bytes 10000000",
        "max-frames": "kf process clip.gif -o clip.webp --max-frames 500",
        "max-pixels": "kf process scan.tif -o scan.jpg --max-pixels 400000000",
        "max-size": "kf process photo.jpg -o small.jpg --process 'thumbnail(1600x)' --max-size 200k",
        "max-time": "kf prefetch list.txt --max-time 60",
        "output": "kf fetch https://example.com/photo.jpg -o photo.jpg",
        "output": "kf process *.jpg -o 'thumbs/{name}-{width}.webp' --process 'thumbnail(300x)'",
        "output": "kf variants photo.jpg --widths 300,600 -o 'small/{width}/{name}'",
        "output": "kf compare before.png after.webp -o difference.png",
        "output": "kf sheet *.jpg -o sheet.png",
        "process": "kf prefetch list.txt --process 'thumbnail(200x200,fill)|>round(20)'",
        "protocol": "kf show photo.jpg --protocol sixel",
        "proxy": "kf prefetch list.txt --proxy http://proxy.example:3128",
        "quality": "kf process in.png -o out.avif -q 60",
        "repeat": "kf fetch https://example.com/photo.jpg --repeat 100",
        "retry": "kf prefetch list.txt --retry 3",
        "sizes": "kf process logo.png -o favicon.ico --sizes 16,32",
        "sizes": "kf variants photo.jpg --widths 400,800 -o out --html --sizes 50vw",
        "subsampling": "kf process in.png -o out.jpg --subsampling 444",
        "threshold": "kf compare expected.png actual.png --threshold 40",
        "timeout": "kf prefetch list.txt --timeout 5",
        "url-prefix": "kf variants photo.jpg --widths 400,800 -o out --html --url-prefix /photos/",
        "width": "kf show photo.jpg --width 60",
        "widths": "kf process photo.jpg -o 'photo-{width}.webp' --widths 320,640,1280",
        "widths": "kf variants photo.jpg --widths 400,800,1600 -o out",
    ]
}
