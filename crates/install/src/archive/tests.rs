use std::io::Write;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

fn tarred(entries: &[(&str, &str)]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    let mut builder = tar::Builder::new(&mut file);
    for (name, content) in entries {
        let mut header = tar::Header::new_gnu();
        // The builder refuses such names, so they are written into the header directly.
        let bytes = &mut header.as_old_mut().name;
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(content.len() as u64);
        header.set_mode(0o4644);
        header.set_cksum();
        builder.append(&header, content.as_bytes()).unwrap();
    }
    builder.finish().unwrap();
    drop(builder);
    io::Seek::rewind(&mut file).unwrap();
    file
}

/// A zip file, unpacked into `in/side` of a scratch folder.
fn unzipped(links: Links, make: impl FnOnce(&mut ZipWriter<File>)) -> (tempfile::TempDir, io::Result<()>) {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("a.zip");
    let mut writer = ZipWriter::new(File::create(&archive).unwrap());
    make(&mut writer);
    writer.finish().unwrap();
    let result =
        Archive::Zip.unpack(File::open(archive).unwrap(), &folder.path().join("in/side"), "", links, Limits::MODULE);
    (folder, result)
}

#[test]
fn entries_of_a_tar_file_stay_in_their_folder() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("in");
    let tar = Archive::Tar(Packing::None);
    tar.unpack(tarred(&[("a/main.tf", "x")]), &target, "", Links::Inside, Limits::MODULE).unwrap();
    assert_eq!(fs::read_to_string(target.join("a/main.tf")).unwrap(), "x");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(target.join("a/main.tf")).unwrap().permissions().mode() & 0o7777, 0o644);
    }
    // The library only skips such an entry, which would leave an incomplete package unnoticed.
    assert!(tar.unpack(tarred(&[("../evil", "x")]), &target, "", Links::Inside, Limits::MODULE).is_err());
    assert!(!folder.path().join("evil").exists());
}

#[test]
fn entries_of_a_zip_file_stay_in_their_folder() {
    // The backslash is a separator on Windows only, and is refused everywhere.
    for name in ["../outside", "/tmp/outside", "a/../../outside", "..\\outside"] {
        let (folder, result) = unzipped(Links::Inside, |writer| {
            writer.start_file(name, SimpleFileOptions::default()).unwrap();
            writer.write_all(b"x").unwrap();
        });
        let problem = result.unwrap_err().to_string();
        assert!(problem.contains("would be written outside"), "{name}: {problem}");
        assert!(!folder.path().join("in/outside").exists());
    }
}

#[test]
fn conflicting_file_and_directory_entries_are_reported() {
    let (_, result) = unzipped(Links::Inside, |writer| {
        for name in ["a", "a/b"] {
            writer.start_file(name, SimpleFileOptions::default()).unwrap();
        }
    });
    assert!(result.unwrap_err().to_string().starts_with("its entry \"a/b\" cannot be extracted to "));
}

#[test]
fn links_lead_inside_or_are_refused() {
    let linked = |links, leads: &str| {
        unzipped(links, |writer| writer.add_symlink("a/link", leads, SimpleFileOptions::default()).unwrap())
    };
    let (folder, result) = linked(Links::Inside, "../b");
    result.unwrap();
    assert_eq!(fs::read_link(folder.path().join("in/side/a/link")).unwrap(), Path::new("../b"));
    for leads in ["../../b", "/etc/passwd"] {
        assert!(linked(Links::Inside, leads).1.unwrap_err().to_string().contains("leads outside"), "{leads}");
    }
    assert!(linked(Links::Refused, "../b").1.unwrap_err().to_string().contains("is a link"));
}

#[cfg(unix)]
#[test]
fn link_that_leads_outside_through_another_link_is_refused() {
    // a/b/up leads to the top, so a/b/up/.. is outside, though its text is not.
    let ways = [
        [("a/b/up", "../.."), ("out", "a/b/up/../secret")],
        [("a/b/up", "../../c/d"), ("a/x", "b/up/../../../secret")],
        [("a/loop", "pool"), ("a/pool", "loop")],
    ];
    for way in ways {
        let (zipped, result) = unzipped(Links::Inside, |writer| {
            writer.add_directory("c/d", SimpleFileOptions::default()).unwrap();
            for (name, leads) in way {
                writer.add_symlink(name, leads, SimpleFileOptions::default()).unwrap();
            }
        });
        assert!(result.unwrap_err().to_string().contains("leads outside"), "{way:?}");
        let left = way.iter().filter(|(name, _)| zipped.path().join("in/side").join(name).is_symlink());
        // The link that leads outside was removed before the error was returned.
        assert_eq!(left.count(), 1, "{way:?}");
        let folder = tempfile::tempdir().unwrap();
        let mut file = tempfile::tempfile().unwrap();
        let mut builder = tar::Builder::new(&mut file);
        for (name, leads) in way {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(tar::EntryType::Symlink);
            header.set_size(0);
            builder.append_link(&mut header, name, leads).unwrap();
        }
        builder.into_inner().unwrap();
        io::Seek::rewind(&mut file).unwrap();
        let result =
            Archive::Tar(Packing::None).unpack(file, &folder.path().join("in"), "", Links::Inside, Limits::MODULE);
        assert!(result.unwrap_err().to_string().contains("leads outside"), "{way:?}");
    }
    // Links through other links inside the package are allowed.
    let (folder, result) = unzipped(Links::Inside, |writer| {
        writer.start_file("a/b/main.tf", SimpleFileOptions::default()).unwrap();
        writer.add_symlink("one", "a", SimpleFileOptions::default()).unwrap();
        writer.add_symlink("two", "one/b/../b", SimpleFileOptions::default()).unwrap();
    });
    result.unwrap();
    assert!(folder.path().join("in/side/two/main.tf").exists());
}

#[test]
fn holes_of_sparse_files_count() {
    let sparse = |size: u64| {
        let mut file = tempfile::tempfile().unwrap();
        let mut header = tar::Header::new_gnu();
        header.as_old_mut().name[..1].copy_from_slice(b"a");
        // A file that consists of one hole: it takes no space in the archive and all of its size when extracted.
        header.set_entry_type(tar::EntryType::GNUSparse);
        header.set_mode(0o644);
        header.set_size(0);
        let gnu = header.as_gnu_mut().unwrap();
        let digits = |number: u64| format!("{number:012o}");
        gnu.realsize.copy_from_slice(digits(size).as_bytes());
        gnu.sparse[0].offset.copy_from_slice(digits(size).as_bytes());
        gnu.sparse[0].numbytes.copy_from_slice(digits(0).as_bytes());
        header.set_cksum();
        file.write_all(header.as_bytes()).unwrap();
        file.write_all(&[0; 1024]).unwrap();
        io::Seek::rewind(&mut file).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let result =
            Archive::Tar(Packing::None).unpack(file, &folder.path().join("in"), "", Links::Inside, Limits::MODULE);
        result.map(|()| fs::metadata(folder.path().join("in/a")).unwrap().len())
    };
    assert_eq!(sparse(4096).unwrap(), 4096);
    assert!(sparse(2 << 30 | 1).is_err_and(|problem| problem.to_string().contains("larger than 2 GiB")));
}

const TIGHT: Limits = Limits { bytes: 1000, entries: 3, kind: "a test" };

/// The archives that files make: a zip file, one that does not say how large its files are, a packed tar file.
fn archives_of(files: &[(&str, usize)]) -> [(Archive, File); 3] {
    let options = SimpleFileOptions::default();
    let mut zip = ZipWriter::new(tempfile::tempfile().unwrap());
    let mut streamed = ZipWriter::new_stream(tempfile::tempfile().unwrap());
    let mut tar =
        tar::Builder::new(flate2::write::GzEncoder::new(tempfile::tempfile().unwrap(), flate2::Compression::best()));
    for (name, size) in files {
        let content = vec![0; *size];
        zip.start_file(*name, options).unwrap();
        zip.write_all(&content).unwrap();
        streamed.start_file(*name, options).unwrap();
        streamed.write_all(&content).unwrap();
        let mut header = tar::Header::new_gnu();
        header.set_size(*size as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, &*content).unwrap();
    }
    let tar = tar.into_inner().unwrap().finish().unwrap();
    let archives = [
        (Archive::Zip, zip.finish().unwrap()),
        (Archive::Zip, streamed.finish().unwrap().into_inner()),
        (Archive::Tar(Packing::Gzip), tar),
    ];
    archives.map(|(kind, mut file)| {
        io::Seek::rewind(&mut file).unwrap();
        (kind, file)
    })
}

#[test]
fn archives_above_the_size_limit_are_refused_before_they_fill_the_disk() {
    for (kind, file) in archives_of(&[("a", 600), ("b", 400)]) {
        let folder = tempfile::tempdir().unwrap();
        kind.unpack(file, &folder.path().join("in"), "", Links::Inside, TIGHT).unwrap();
    }
    for (kind, file) in archives_of(&[("a", 600), ("b", 1_000_000)]) {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("in");
        let problem = kind.unpack(file, &target, "", Links::Inside, TIGHT).unwrap_err().to_string();
        assert!(problem.contains("larger than 1000 bytes, the limit for the unpacked package of a test"), "{problem}");
        let written: u64 = fs::read_dir(&target).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
        // One byte more than allowed shows that there is too much.
        assert!(written <= TIGHT.bytes + 1, "{kind:?} wrote {written} bytes");
    }
}

#[test]
fn archives_with_too_many_entries_are_refused() {
    for (kind, file) in archives_of(&[("a", 0), ("b", 0), ("c", 0), ("d", 0)]) {
        let folder = tempfile::tempdir().unwrap();
        let problem = kind.unpack(file, &folder.path().join("in"), "", Links::Inside, TIGHT).unwrap_err().to_string();
        assert!(problem.contains("more than 3 entries, the limit for the package of a test"), "{problem}");
    }
}

#[test]
fn end_record_in_a_comment_hides_no_entries() {
    let mut writer = ZipWriter::new(tempfile::tempfile().unwrap());
    for name in ["a", "b", "c", "d"] {
        writer.start_file(name, SimpleFileOptions::default()).unwrap();
    }
    // Looks like the end record of an archive with one entry.
    writer.set_comment("PK\x05\x06\0\0\0\0\x01\0\x01\0 and the rest of the record").unwrap();
    let mut file = writer.finish().unwrap();
    assert!(check_entries(&mut file, TIGHT).is_err());
    let folder = tempfile::tempdir().unwrap();
    let problem = Archive::Zip.unpack(file, &folder.path().join("in"), "", Links::Inside, TIGHT).unwrap_err();
    assert!(problem.to_string().contains("more than 3 entries"), "{problem}");
}

#[test]
fn zip64_end_record_limits_the_entries() {
    let limits = Limits { entries: 70_000, ..TIGHT };
    // More entries than the 16-bit field of the ordinary end record can count.
    for (count, is_refused) in [(70_000, false), (70_001, true)] {
        let mut writer = ZipWriter::new(tempfile::tempfile().unwrap());
        for number in 0..count {
            writer.start_file(format!("{number}"), SimpleFileOptions::default()).unwrap();
        }
        writer.set_comment("PK and more").unwrap();
        let mut file = writer.finish().unwrap();
        assert_eq!(check_entries(&mut file, limits).is_err(), is_refused, "{count}");
    }
}

#[test]
fn single_compressed_file_is_limited() {
    let mut writer = flate2::write::GzEncoder::new(tempfile::tempfile().unwrap(), flate2::Compression::best());
    writer.write_all(&vec![0; 1_000_000]).unwrap();
    let mut file = writer.finish().unwrap();
    io::Seek::rewind(&mut file).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("in");
    let problem = Archive::Single(Packing::Gzip).unpack(file, &target, "one", Links::Inside, TIGHT).unwrap_err();
    assert!(problem.to_string().contains("larger than 1000 bytes"), "{problem}");
    assert!(fs::metadata(target.join("one")).unwrap().len() <= TIGHT.bytes + 1);
}

#[test]
fn archive_kind_follows_from_the_file_extension() {
    assert_eq!(Archive::of_path("/x/m.tar.gz"), Some(Archive::Tar(Packing::Gzip)));
    assert_eq!(Archive::of_path("/x/m.zip"), Some(Archive::Zip));
    assert_eq!(Archive::of_path("/x/zip"), None);
    assert_eq!(Archive::named("tgz"), Some(Archive::Tar(Packing::Gzip)));
}
