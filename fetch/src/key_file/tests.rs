use super::*;

#[test]
fn a_key_file_is_made_once_kept_and_closed_to_others() {
    let path = std::env::temp_dir().join(format!("prismux-key-{}", std::process::id()));
    let _ = fs::remove_file(&path);
    let key = load_or_create(&path).expect("writable");
    assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
    assert_eq!(load_or_create(&path).expect("readable").public(), key.public());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("ours");
    assert!(matches!(load_or_create(&path), Err(KeyFileError::Readable(0o640))));
    fs::remove_file(&path).expect("there");
}
