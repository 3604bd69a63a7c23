//! No text may run out of the picture, however long the names are.
use super::*;

fn panel(label: &str, part: &str, note: &str) -> Panel {
    let parts = vec![(part.to_string(), 3.0), ("b".to_string(), 1.0)];
    let bars = vec![Bar { label: label.to_string(), parts, note: note.to_string() }];
    Panel { title: "links".to_string(), bars, limit: 5.0, limit_note: "5".to_string() }
}

#[test]
fn long_names_get_the_room_they_need() {
    let label = "the best of all single links there are, member with a very long name indeed";
    let note = "123.4 Mbit/s (99.9 %), and something more to say about it";
    let picture = draw("title", &[panel(label, "a-part-with-a-long-name", note), panel("x", "y", "z")]);
    let columns = Columns::of("title", &[panel(label, "a", note)]);
    assert!(columns.bars > MARGIN + width(label), "the label ends left of the bars");
    assert!(columns.width > columns.notes + width(note), "the note ends in the picture");
    assert!(picture.contains(label) && picture.contains(note));
    assert!(picture.contains(&format!("viewBox=\"0 0 {:.0}", columns.width)));
}

#[test]
fn estimated_widths_hold_the_letters_of_a_wide_face() {
    // Measured in DejaVu Sans at 13 px.
    for (text, measured) in [
        ("PRISM, unmodified sender", 170.6),
        ("PRISM, TCP-PRISM sender", 165.9),
        ("best single link (m2)", 133.1),
        ("1.01 Mbit/s (74.2 %)", 132.1),
        ("wwan1", 45.7),
        ("MWMWMW", 72.2),
    ] {
        let estimated = width(text);
        assert!((measured..1.3 * measured).contains(&estimated), "{text}: {estimated}");
    }
}

#[test]
fn a_bar_ends_where_its_value_stands_on_the_scale() {
    let picture = draw("t", &[panel("x", "y", "z")]);
    let columns = Columns::of("t", &[panel("x", "y", "z")]);
    let end = columns.bars + 0.8 * BARS_WIDTH;
    // The second part begins at 3 of 5 and is 1 of 5 wide.
    let second = format!("x=\"{:.1}\" y=", columns.bars + 0.6 * BARS_WIDTH);
    assert!(
        picture.contains(&second)
            && picture.contains(&format!("width=\"{:.1}\"", end - columns.bars - 0.6 * BARS_WIDTH))
    );
}
