use super::*;

#[test]
fn key_files_of_other_content_are_refused() {
    let entropy = &mut Entropy::from_seed([1; 32]);
    let (key, other) = (ServerKey::generate(entropy), ServerKey::generate(entropy));
    assert_eq!(ServerKey::parse(&key.to_text()).map(|key| key.public()), Some(key.public()));
    let mixed = key.to_text().replace(&key.public().to_string(), &other.public().to_string());
    for text in ["", "prismux server key\n", &key.to_text()[5..], &mixed, "a\nb\nc"] {
        assert!(ServerKey::parse(text).is_none(), "{text}");
    }
}
