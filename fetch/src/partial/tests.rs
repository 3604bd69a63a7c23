use super::*;
use proptest::prelude::*;

fn scratch(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("prismux-partial-{name}-{}", std::process::id()));
    discard(&path);
    let _ = fs::remove_file(&path);
    path
}

fn identity(bytes: &[u8]) -> Identity {
    Identity { size: bytes.len() as u64, digest: Digest::of(bytes).expect("memory") }
}

#[test]
fn pieces_in_any_order_become_the_file_over_two_attempts() {
    let (output, bytes) = (scratch("attempts"), b"0123456789".to_vec());
    let mut first = PartialFile::open(&output, identity(&bytes), &[]).expect("writable");
    first.write(6, &bytes[6..8]);
    first.write(0, &bytes[..3]);
    first.write(3, &bytes[3..4]);
    first.save().expect("writable");
    assert_eq!(first.received(), 6);
    drop(first);
    let leftover = leftover(&output).expect("readable").expect("there");
    assert_eq!(leftover, Leftover { identity: identity(&bytes), ranges: vec![0..4, 6..8] });
    let mut second = PartialFile::open(&output, leftover.identity, &leftover.ranges).expect("writable");
    second.write(8, &bytes[8..]);
    second.write(4, &bytes[4..6]);
    second.finish(false).expect("complete");
    assert_eq!(fs::read(&output).expect("there"), bytes);
    assert!(!data_path(&output).exists() && !sidecar_path(&output).exists());
    fs::remove_file(&output).expect("there");
}

#[test]
fn wrong_bytes_never_get_the_files_name() {
    let output = scratch("wrong");
    let mut file = PartialFile::open(&output, identity(b"right"), &[]).expect("writable");
    file.write(0, b"wrong");
    assert!(matches!(file.finish(false), Err(PartialError::Digest(..))));
    assert!(!output.exists() && !data_path(&output).exists());
}

#[test]
fn sidecars_that_make_no_sense_are_refused() {
    let digest = "00".repeat(32);
    let with = |format: u32, size: u64, ranges: &str| {
        let text =
            format!(r#"{{"prismux_part":{format},"size":{size},"sha256":"{digest}","ranges":{ranges}}}"#);
        parse_sidecar(text.as_bytes())
    };
    assert!(with(1, 9, "[[0,3],[5,9]]").is_ok());
    for (format, ranges) in [
        (2, "[]"),
        (1, "[[3,3]]"),
        (1, "[[0,10]]"),
        (1, "[[5,6],[0,3]]"),
        (1, "[[0,3],[3,5]]"),
        (1, "[[-1,3]]"),
    ] {
        assert!(with(format, 9, ranges).is_err(), "{format} {ranges}");
    }
}

proptest! {
    #[test]
    fn an_accepted_sidecar_names_disjoint_ranges_within_the_object(
        size in 0u64..1000,
        ranges in proptest::collection::vec((0u64..1000, 0u64..1000), 0..5),
    ) {
        let sidecar = Sidecar { prismux_part: 1, size, sha256: "ab".repeat(32), ranges };
        if let Ok(leftover) = parse_sidecar(&serde_json::to_vec(&sidecar).expect("plain data")) {
            let mut last = 0;
            for range in leftover.ranges {
                prop_assert!(last <= range.start && range.start < range.end && range.end <= size);
                last = range.end;
            }
        }
    }
}

#[test]
fn links_are_not_followed() {
    let output = scratch("links");
    let victim = output.with_extension("victim");
    fs::write(&victim, "precious").expect("writable");
    // Where the bytes and the sidecar are to go somebody has put links.
    std::os::unix::fs::symlink(&victim, data_path(&output)).expect("writable");
    std::os::unix::fs::symlink(&victim, with_suffix(&sidecar_path(&output), ".new")).expect("writable");
    let mut file = PartialFile::open(&output, identity(b"bytes"), &[]).expect("a new file");
    file.write(0, b"byt");
    file.save().expect("a new sidecar");
    assert_eq!(fs::read(&victim).expect("there"), b"precious");
    drop(file);
    // The same when an earlier attempt goes on.
    for link in [std::os::unix::fs::symlink, |from: &PathBuf, to: PathBuf| fs::hard_link(from, to)] {
        fs::remove_file(data_path(&output)).expect("there");
        link(&victim, data_path(&output)).expect("writable");
        let opened = PartialFile::open(&output, identity(b"bytes"), std::slice::from_ref(&(0..3)));
        assert!(matches!(opened, Err(PartialError::Link(_))));
    }
    assert_eq!(fs::read(&victim).expect("there"), b"precious");
    discard(&output);
    fs::remove_file(victim).expect("there");
}

#[test]
fn a_file_that_appeared_meanwhile_is_not_replaced_unless_that_is_wanted() {
    let (output, bytes) = (scratch("appeared"), b"bytes");
    let received = || {
        let mut file = PartialFile::open(&output, identity(bytes), &[]).expect("writable");
        file.write(0, bytes);
        file
    };
    let file = received();
    fs::write(&output, "precious").expect("writable");
    assert!(matches!(file.finish(false), Err(PartialError::Exists(_))));
    assert_eq!(fs::read(&output).expect("there"), b"precious");
    received().finish(true).expect("wanted");
    assert_eq!(fs::read(&output).expect("there"), bytes);
    fs::remove_file(&output).expect("there");
}
