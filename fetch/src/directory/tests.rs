use super::*;
use crate::digest::Digest;
use crate::pieces::{PieceList, list_path};
use nix::sys::stat::Mode;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process;
use std::thread;
use std::time::Duration;

/// A folder of its own for each test, removed afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("prismux-directory-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("served/inner")).expect("writable");
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Asks until the digest is there.
fn find(directory: &mut Directory, path: &str) -> Result<Arc<dyn Object>, Refusal> {
    loop {
        match directory.find(path) {
            Lookup::Ready(object) => return Ok(object),
            Lookup::Refused(why) => return Err(why),
            Lookup::Preparing => thread::sleep(Duration::from_millis(1)),
        }
    }
}

#[test]
fn nothing_leads_out_of_the_folder() {
    let scratch = Scratch::new("escape");
    let root = scratch.0.join("served");
    fs::write(scratch.0.join("secret"), "secret").expect("writable");
    fs::write(root.join("inner/file"), "open").expect("writable");
    symlink("../secret", root.join("relative")).expect("writable");
    symlink(scratch.0.join("secret"), root.join("absolute")).expect("writable");
    symlink("..", root.join("inner/up")).expect("writable");
    symlink("inner/file", root.join("within")).expect("writable");
    let mut directory = Directory::open(&root).expect("a folder");
    let secret = scratch.0.join("secret").display().to_string();
    let escapes = [
        "../secret",
        "inner/../../secret",
        "relative",
        "absolute",
        "inner/up/../secret",
        "inner/up/../../secret",
        secret.as_str(),
        "/etc/passwd",
        "inner\0/file",
        "..",
        "",
        "/",
        "inner",
        "missing",
        "inner/file/",
    ];
    for path in escapes {
        assert_eq!(find(&mut directory, path).err(), Some(Refusal::NotFound), "{path:?}");
    }
    for path in ["inner/file", "within", "inner/../inner/file"] {
        let object = find(&mut directory, path).expect(path);
        let mut bytes = [0; 4];
        object.read_at(0, &mut bytes).expect("there");
        assert_eq!(&bytes, b"open");
        assert!(object.read_at(1, &mut bytes).is_err(), "beyond the end");
    }
}

#[test]
fn a_digest_belongs_to_one_content_and_a_change_is_noticed() {
    let scratch = Scratch::new("change");
    let file = scratch.0.join("served/file");
    fs::write(&file, "one").expect("writable");
    let mut directory = Directory::open(&scratch.0.join("served")).expect("a folder");
    let first = find(&mut directory, "file").expect("there");
    assert_eq!(first.identity(), Identity { size: 3, digest: Digest::of(&b"one"[..]).expect("memory") });
    assert!(first.is_unchanged());
    fs::write(&file, "other").expect("writable");
    assert!(!first.is_unchanged());
    let second = find(&mut directory, "file").expect("there");
    assert_eq!(second.identity(), Identity { size: 5, digest: Digest::of(&b"other"[..]).expect("memory") });
}

#[test]
fn one_file_under_many_names_is_hashed_once() {
    let scratch = Scratch::new("names");
    let root = scratch.0.join("served");
    fs::write(root.join("inner/file"), vec![7; 100_000]).expect("writable");
    let mut directory = Directory::open(&root).expect("a folder");
    for dots in 0..200 {
        for name in
            [format!("inner/{}file", "./".repeat(dots)), format!("{}inner/file", "inner/../".repeat(dots))]
        {
            assert!(!matches!(directory.find(&name), Lookup::Refused(_)), "{name}");
        }
    }
    assert_eq!(directory.digests.with(|digests| digests.remembered()), 1);
    let first = find(&mut directory, "inner/file").expect("there");
    let other = find(&mut directory, "inner/../inner/./file").expect("there");
    assert!(Arc::ptr_eq(&first, &other), "one open file for all of them");
}

#[test]
fn a_small_file_does_not_wait_for_a_huge_one() {
    let scratch = Scratch::new("huge");
    let root = scratch.0.join("served");
    // A file with a hole of a terabyte: hashing it takes half an hour.
    File::create(root.join("huge")).and_then(|file| file.set_len(1 << 40)).expect("a file system with holes");
    fs::write(root.join("small"), "small").expect("writable");
    let mut directory = Directory::open(&root).expect("a folder");
    assert!(matches!(directory.find("huge"), Lookup::Preparing));
    thread::sleep(Duration::from_millis(50));
    let mut left = 20_000;
    while !matches!(directory.find("small"), Lookup::Ready(_)) {
        left -= 1;
        assert!(left > 0, "it waits for the huge one");
        thread::sleep(Duration::from_millis(1));
    }
    assert!(matches!(directory.find("huge"), Lookup::Preparing));
}

#[test]
fn a_named_pipe_is_not_opened() {
    let scratch = Scratch::new("pipe");
    let root = scratch.0.join("served");
    let pipe = root.join("pipe");
    nix::unistd::mkfifo(&pipe, Mode::S_IRWXU).expect("writable");
    // Nobody reads it: opening it for writing waits, until somebody opens it for reading.
    let writer = {
        let pipe = pipe.clone();
        thread::spawn(move || OpenOptions::new().write(true).open(pipe).map(drop))
    };
    let mut directory = Directory::open(&root).expect("a folder");
    for _ in 0..200 {
        assert!(matches!(directory.find("pipe"), Lookup::Refused(Refusal::NotFound)));
        thread::sleep(Duration::from_millis(1));
    }
    assert!(!writer.is_finished(), "the server has opened the pipe");
    drop(File::open(&pipe).expect("a reader"));
    writer.join().expect("no panic").expect("let through now");
}

#[test]
fn a_file_has_a_list_of_its_pieces_made_from_what_it_is_now() {
    let scratch = Scratch::new("pieces");
    let file = scratch.0.join("served/file");
    let mut directory = Directory::open(&scratch.0.join("served")).expect("a folder");
    for bytes in [vec![1; 300_000], vec![2; 100]] {
        fs::write(&file, &bytes).expect("writable");
        let object = find(&mut directory, &list_path("file")).expect("there");
        let mut list = vec![0; object.identity().size as usize];
        object.read_at(0, &mut list).expect("in memory");
        assert!(object.read_at(1, &mut list.clone()).is_err(), "beyond the end");
        let list = PieceList::parse(&list).expect("a list");
        assert_eq!(list.root(), object.identity().digest);
        assert_eq!(list.identity().digest, Digest::of(&bytes[..]).expect("memory"));
        assert!(list.is_right(0, &bytes[..bytes.len().min(256 << 10)]));
    }
    assert_eq!(find(&mut directory, &list_path("missing")).err(), Some(Refusal::NotFound));
    assert_eq!(find(&mut directory, &list_path("../file")).err(), Some(Refusal::NotFound));
}
