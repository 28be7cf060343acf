// Finds whether a HEIC is shown on its side. libheif 1.15 reports its size as if it was not when the rotation comes
// before the size in the file, as it does in those of some cameras.
//
// The names are those of ISO/IEC 14496-12, section 8.11, and ISO/IEC 23008-12, section 9.3.
#if HEIC

/// What the boxes of a HEIC say.
enum HEICBoxes {
    /// Whether the primary image is turned by a right angle, and not cropped: then its size is known.
    static func isTurned(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let meta = Boxes(bytes)["meta"]?.after(4), let primary = meta["pitm"], let lists = meta["iprp"],
            let version = primary.number(0, 1), let id = primary.number(4, version == 0 ? 2 : 4),
            let all = lists["ipco"]?.list
        else { return false }
        let numbers = lists.list.lazy.filter { $0.name == "ipma" }.compactMap { properties(of: id, in: $0.content) }
        let own = (numbers.first ?? []).compactMap { all.indices.contains($0 - 1) ? all[$0 - 1] : nil }
        let turns = own.filter { $0.name == "irot" && ($0.content.number(0, 1) ?? 0) & 1 == 1 }
        return turns.count % 2 == 1 && !own.contains { $0.name == "clap" }
    }

    /// The numbers of an item's properties, from 1 on. (ItemPropertyAssociationBox)
    private static func properties(of item: UInt64, in list: Boxes) -> [Int]? {
        guard let version = list.number(0, 1), let flags = list.number(1, 3), let count = list.number(4, 4) else {
            return nil
        }
        let (idSize, size) = (version == 0 ? 2 : 4, flags & 1 == 1 ? 2 : 1)
        var rest = list.after(8)
        for _ in 0..<count {
            guard let id = rest.number(0, idSize), let uses = rest.number(idSize, 1) else { return nil }
            rest = rest.after(idSize + 1)
            if id == item {
                return (0..<Int(uses)).compactMap { rest.number($0 * size, size) }
                    .map { Int($0 & (size == 2 ? 0x7FFF : 0x7F)) }
            }
            rest = rest.after(Int(uses) * size)
        }
        return nil
    }
}
#endif
