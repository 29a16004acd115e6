/* SPDX-License-Identifier: MIT */
#include "picture.h"

void picture_alone(struct text *out, const struct picture *picture)
{
    const struct svg_head head = {
        .id = picture->name, .title = picture->title, .desc = picture->desc, .class = "", .alone = true};
    text_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    picture->draw(out, picture, PICTURE_WIDE, &head);
}

void document_picture(struct document *document, const struct picture *picture, struct table *table)
{
    document_add(document, (struct section){.show = SHOW_HTML,
                                            .key = picture->name,
                                            .title = picture->title,
                                            .picture = arena_copy(document->arena, picture, sizeof(*picture)),
                                            .table = table});
}
