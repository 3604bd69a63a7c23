use super::*;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process;
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
