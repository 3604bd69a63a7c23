use super::*;

#[test]
fn a_key_file_is_made_once_kept_and_closed_to_others() {
    let path = std::env::temp_dir().join(format!("prismux-key-{}", std::process::id()));
    let _ = fs::remove_file(&path);
    let key = ServerKey::load_or_create(&path).expect("writable");
    assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
    assert_eq!(ServerKey::load_or_create(&path).expect("readable").public(), key.public());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("ours");
    assert!(matches!(ServerKey::load_or_create(&path), Err(KeyError::Readable(0o640))));
    fs::remove_file(&path).expect("there");
}

#[test]
fn key_files_of_other_content_are_refused() {
    let (key, other) = (ServerKey::generate(), ServerKey::generate());
    assert_eq!(ServerKey::parse(&key.text()).map(|key| key.public()), Some(key.public()));
    let mixed = key.text().replace(&key.public().to_string(), &other.public().to_string());
    for text in ["", "prismux server key\n", &key.text()[5..], &mixed, "a\nb\nc"] {
        assert!(ServerKey::parse(text).is_none(), "{text}");
    }
}
