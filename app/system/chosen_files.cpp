#include "app/system/chosen_files.h"

#include "app/system/chosen_path.h"
#include "app/text/visible_text.h"

#include <QFileInfo>

bool ChosenFiles::exists(const QUrl& file)
{
    return QFileInfo::exists(chosenPath(file));
}

QString ChosenFiles::shownName(const QUrl& file)
{
    return VisibleText::of(QFileInfo(chosenPath(file)).fileName());
}

#include "moc_chosen_files.cpp"
